// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';

import { renderChat } from '../src/widget/chat';
import { STATE } from './chat_page';
import { FakeKernel } from './fake_kernel';

test('a widget shows the chat, keeps its keys from the notebook, and can be taken off', async () => {
  vi.stubGlobal(
    'ResizeObserver',
    class {
      observe(): void {}
      disconnect(): void {}
    }
  );
  const kernel = new FakeKernel();
  const element = document.createElement('div');
  const dispose = renderChat({ transport: kernel, element });
  expect(kernel.last('attach').params).toMatchObject({ kind: 'widget', protocol: 1 });
  const result = { protocol: 1, version: '0.1.0', state: { ...STATE, notebook: '/home/me/growth.ipynb' }, runs: [] };
  kernel.say({ type: 'response', id: kernel.last('attach').id, result });
  await kernel.settle();
  expect(element.querySelector('.am-chat-place')!.textContent).toBe('growth.ipynb');
  expect(element.querySelector('.am-chat')!.closest('[data-lm-suppress-shortcuts]')).not.toBeNull();
  expect([...element.querySelectorAll('[aria-label="Agent"]')].map(each => each.getAttribute('role'))).toEqual([
    'region'
  ]);
  dispose();
  expect(element.childElementCount).toBe(0);
  vi.unstubAllGlobals();
});

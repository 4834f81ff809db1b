// @vitest-environment jsdom
import { Panel, Widget } from '@lumino/widgets';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import extension from '../src/lab/mime';
import { RECORD_TYPE } from '../src/protocol/messages';
import { WIDGET_TYPE } from '../src/view/record';
import { renderRun } from '../src/widget/run';
import { FakeKernel } from './fake_kernel';
import { call, record, running, text } from './records';

// Lumino extends the event, which jsdom does not have.
vi.hoisted(() => Object.assign(globalThis, { DragEvent: class extends MouseEvent {} }));

let sights: { node: Element; see(): void; gone: boolean }[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  sights = [];
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(private readonly told: (entries: { isIntersecting: boolean }[]) => void) {}
      observe(node: Element) {
        sights.push({ node, see: () => this.told([{ isIntersecting: true }]), gone: false });
      }
      disconnect() {
        sights.forEach(sight => (sight.gone = true));
      }
    }
  );
});
afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

type Options = Parameters<NonNullable<(typeof extension)['rendererFactory']>['createRenderer']>[0];

async function rendered(data: unknown, typeset = vi.fn()) {
  const renderer = (extension as Exclude<typeof extension, unknown[]>).rendererFactory.createRenderer({
    latexTypesetter: { typeset }
  } as unknown as Options);
  Widget.attach(renderer, document.body);
  const render = (next: unknown) =>
    renderer.renderModel({ data: { [RECORD_TYPE]: next }, metadata: {}, trusted: false } as never);
  await render(data);
  return { renderer, render, node: renderer.node, typeset };
}

test('is there for the type of the record, which is safe in a notebook that is not trusted', () => {
  expect(extension).toMatchObject({
    dataType: 'json',
    rendererFactory: { safe: true, mimeTypes: ['application/vnd.agent-magic.run+json'] }
  });
});

test('draws a record when it comes into sight, without anything that acts', async () => {
  const { node } = await rendered(running([call('1'), text('2', 'So.')]));
  expect(node.querySelector('.am-view')).toBeNull();
  expect(parseInt(node.style.minHeight)).toBeGreaterThan(50);
  sights[0]!.see();
  expect(sights[0]!.gone).toBe(true);
  expect(node.style.minHeight).toBe('');
  expect(node.querySelector('.am-tool')!.textContent).toContain('sales');
  expect(node.textContent).toContain('So.');
  expect(node.querySelectorAll('button, [aria-live]').length).toBe(0);
});

test('says of a run that it did not end, where it is not with the widget that may show it', async () => {
  const items = [call('1', { state: 'running' }), text('2', 'So', 'running')];
  const { node, renderer } = await rendered(running(items, { seconds: 3 }));
  sights[0]!.see();
  expect(node.textContent).toContain('This run did not end here');
  expect(node.querySelector('.am-tool')!.textContent).toContain('stopped');
  expect(node.textContent).toContain('3.0 s');
  const data = { [RECORD_TYPE]: running(items), [WIDGET_TYPE]: { model_id: 'w1' } };
  await renderer.renderModel({ data, metadata: {}, trusted: false } as never);
  vi.advanceTimersByTime(300);
  expect(node.textContent).not.toContain('This run did not end here');
  await renderer.renderModel({ data: { [RECORD_TYPE]: running([]) }, metadata: {}, trusted: false } as never);
  vi.advanceTimersByTime(300);
  expect(node.textContent).toContain('This run did not end here');
  // Nobody knows how long it took.
  expect(node.querySelector('.am-footer')!.textContent).not.toMatch(/\d m?s/);
});

test('draws another record in the place of the first', async () => {
  const { node, render } = await rendered(record([text('1', 'One.')]));
  sights[0]!.see();
  await render(record([text('1', 'Two.')], { run: 'run-2' }));
  vi.advanceTimersByTime(300);
  expect(node.querySelector('.am-prose')!.textContent).toBe('Two.');
});

test('has maths drawn by the typesetter of the page, and by no other', async () => {
  const { node, typeset } = await rendered(record([text('1', 'So $x$.')]));
  const others = vi.fn();
  document.addEventListener('agent-magic:typeset', others);
  sights[0]!.see();
  vi.advanceTimersByTime(1);
  document.removeEventListener('agent-magic:typeset', others);
  expect(typeset).toHaveBeenCalledWith(node.querySelector('.am-maths'));
  expect(others).not.toHaveBeenCalled();
});

const CHART = 'application/vnd.plotly.v1+json';

/** An output area that can draw plotly's charts, around `renderer`. */
function outputArea(renderer: Widget, drawn: Widget, outputs: object[] = []) {
  const area = Object.assign(new Panel(), {
    model: { length: outputs.length, get: (place: number) => ({ data: outputs[place] }) },
    rendermime: {
      mimeTypes: ['text/html', CHART],
      createModel: (options: object) => options,
      createRenderer: (type: string) => Object.assign(drawn, { type })
    }
  });
  Widget.attach(area, document.body);
  area.addWidget(renderer);
  return area;
}

test('has charts drawn by the renderers of its notebook, once they are in the page', async () => {
  const chart = { data: [] };
  const renderModel = vi.fn(async () => undefined);
  const drawn = Object.assign(new Widget(), { renderModel });
  const outputs = [{ [CHART]: chart, 'text/html': '<b>no</b>', 'text/plain': 'plotly figure' }];
  const { node, renderer } = await rendered(record([call('1', { outputs })]));
  outputArea(renderer, drawn);
  sights[0]!.see();
  vi.advanceTimersByTime(200);
  expect((drawn as Widget & { type?: string }).type).toBe(CHART);
  expect(node.querySelector('.am-chart')!.contains(drawn.node)).toBe(true);
  expect(renderModel).toHaveBeenCalledWith({ data: outputs[0], trusted: false });
  renderer.dispose();
  expect(drawn.isDisposed).toBe(true);
});

test('leaves charts to the outputs of their own that the cell has', async () => {
  const renderModel = vi.fn(async () => undefined);
  const outputs = [{ [CHART]: { data: [] }, 'text/plain': 'plotly figure' }];
  const { node, renderer } = await rendered(record([call('1', { outputs })]));
  outputArea(renderer, Object.assign(new Widget(), { renderModel }), [{ [RECORD_TYPE]: {} }, ...outputs]);
  sights[0]!.see();
  vi.advanceTimersByTime(200);
  expect(renderModel).not.toHaveBeenCalled();
  expect(node.querySelector('.am-chart')!.textContent).toBe('The chart is shown below.');
});

test('shows the text of a chart where nothing draws it', async () => {
  const outputs = [{ 'application/vnd.vegalite.v5+json': {}, 'text/plain': 'altair chart' }];
  const { node, renderer } = await rendered(record([call('1', { outputs })]));
  outputArea(renderer, new Widget());
  sights[0]!.see();
  expect(node.querySelector('.am-figures')!.textContent).toBe('altair chart');
});

test('leaves nothing when it is disposed of, drawn or not', async () => {
  const { renderer, node } = await rendered(running([text('1', 'One.')]));
  renderer.dispose();
  expect(sights[0]!.gone).toBe(true);
  const other = await rendered(running([text('1', 'One.')]));
  sights[1]!.see();
  other.renderer.dispose();
  expect(node.childElementCount + other.node.childElementCount).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['a later version', { version: 2, items: [] }],
  ['no record', 'words'],
  ['a record without items', { version: 1 }]
])('%s is shown by the words beside it', async (_, data) => {
  const { renderer, node } = await rendered(data);
  expect(node.textContent).toContain('later version of agent_magic');
  await renderer.renderModel({ data: { [RECORD_TYPE]: data, 'text/plain': 'It is <b>3</b>.' }, metadata: {} } as never);
  expect(node.textContent).toBe('It is <b>3</b>.');
});

describe('where the live view of a run was', () => {
  /** What stands in the cell when the run ends: `leave` takes it away, as the notebook does for the record. */
  async function live(items = [call('1'), call('2'), text('3', 'So', 'running')]) {
    const cell = document.createElement('div');
    cell.className = 'jp-Cell';
    cell.tabIndex = -1;
    const place = document.createElement('div');
    document.body.append(cell);
    cell.append(place);
    const kernel = new FakeKernel();
    const dispose = renderRun({ transport: kernel, element: place });
    const run = { run: 'run-1', seq: 1, record: running(items) };
    kernel.say({ type: 'response', id: kernel.last('attach').id, result: { protocol: 1, version: '0.1.0', run } });
    await kernel.settle();
    const cards = [...place.querySelectorAll<HTMLDetailsElement>('.am-tool')];
    const open = (card: HTMLDetailsElement) => {
      card.open = true;
      card.dispatchEvent(new Event('toggle'));
    };
    const leave = async () => {
      place.remove();
      vi.runOnlyPendingTimers();
      dispose();
      const { node } = await rendered(record([call('1'), call('2'), text('3', 'So.')]));
      cell.append(node);
      sights.at(-1)!.see();
      return [...node.querySelectorAll<HTMLDetailsElement>('.am-tool')];
    };
    return { cell, place, cards, open, leave };
  }

  test('the record has the same cards open, once', async () => {
    const { cards, open, leave } = await live();
    open(cards[1]!);
    expect((await leave()).map(card => card.open)).toEqual([false, true]);
    const { node } = await rendered(record([call('1'), call('2')]));
    sights.at(-1)!.see();
    expect([...node.querySelectorAll<HTMLDetailsElement>('.am-tool')].map(card => card.open)).toEqual([false, false]);
  });

  test('the record has the focus that a card had by keys', async () => {
    const { cards, leave } = await live();
    cards[1]!.querySelector('summary')!.focus();
    const [, card] = await leave();
    expect(document.activeElement).toBe(card!.querySelector('summary'));
  });

  test('the cell has the focus that something else in it had, so that the notebook keeps its keys', async () => {
    const { cell, place, leave } = await live();
    place.querySelector<HTMLElement>('.am-stop')!.focus();
    await leave();
    expect(document.activeElement).toBe(cell);
  });

  test('the focus that somebody has taken elsewhere stays there', async () => {
    const { cards, leave } = await live();
    cards[0]!.querySelector('summary')!.focus();
    const elsewhere = document.createElement('button');
    document.body.append(elsewhere);
    elsewhere.focus();
    await leave();
    expect(document.activeElement).toBe(elsewhere);
  });
});

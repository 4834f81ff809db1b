// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';

import type { Item, RunRecord } from '../src/view/record';
import { RecordView } from '../src/view/view';
import attacks from './attacks.json';
import { PNG, TABLE, call, question, record } from './records';

// They draw a lot, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const TAGS = new Set(
  [
    ...['a', 'blockquote', 'br', 'button', 'code', 'details', 'div', 'em', 'h1', 'h2', 'h3', 'hr', 'i', 'img', 'input'],
    ...['label', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'summary', 'table', 'tbody', 'td', 'textarea', 'th'],
    ...['thead', 'tr', 'ul']
  ].map(name => name.toUpperCase())
);
const ATTRIBUTES = new Set([
  ...[
    'alt',
    'class',
    'data-lm-suppress-shortcuts',
    'data-state',
    'dir',
    'hidden',
    'href',
    'id',
    'open',
    'placeholder',
    'rel'
  ],
  ...['role', 'rows', 'scope', 'spellcheck', 'src', 'start', 'style', 'tabindex', 'target', 'title', 'type']
]);

const VALUES: Record<string, RegExp> = {
  dir: /^auto$/,
  href: /^(https?:\/\/|mailto:)/i,
  rel: /^noopener noreferrer$/,
  src: /^data:image\/(png|jpeg|gif);base64,[A-Za-z0-9+/=]+$/,
  style: /^(width: \d+%|min-height: \d+px);?$/,
  class: /^((am-|hljs-|language-)[\w+#.-]*|)( ((am-|hljs-)[\w-]+|\w+_))*$/,
  id: /^am-[\w-]+$/
};

/** What is not one of our elements with our attributes and values. */
function foreign(root: Element): string[] {
  const found: string[] = [];
  for (const each of root.querySelectorAll('*')) {
    if (!TAGS.has(each.tagName) || (each.hasAttribute('href') && (each.tagName !== 'A' || !each.hasAttribute('rel')))) {
      found.push(each.outerHTML);
    }
    for (const { name, value } of each.attributes) {
      const isKnown = ATTRIBUTES.has(name) || name.startsWith('aria-');
      if (!isKnown || !(VALUES[name]?.test(value) ?? true)) {
        found.push(`${name}="${value}"`);
      }
    }
  }
  return found;
}

/** A record in which everything that can come from outside is the attack. */
function full(attack: string): RunRecord {
  const table = {
    ...TABLE,
    name: attack,
    columns: [attack],
    index: [attack],
    rows: [[attack]],
    numeric: [],
    shape: [1, 1]
  };
  const outputs = [
    { 'application/vnd.agent-magic.table+json': table },
    { 'text/plain': attack, 'text/html': attack, 'image/svg+xml': attack, 'application/javascript': attack },
    { 'image/png': attack, 'text/plain': attack },
    { 'image/png': PNG, 'text/plain': attack },
    { [attack]: attack }
  ];
  const values = { [attack]: attack, code: attack, list: [attack], lines: `\n${attack}` };
  const words = { name: attack, summary: attack, arguments: values, error: attack, result: attack, progress: attack };
  const plain = (kind: string, place: number): Item => ({
    id: `p${place}`,
    kind,
    state: 'done',
    text: attack,
    title: attack,
    outputs
  });
  return record(
    [
      ...['user', 'context', 'thinking', 'text', 'error', 'note', 'media', attack].map(plain),
      ...(['pending', 'running', 'done', 'failed', 'denied', 'aborted', attack] as Item['state'][]).map(
        (state, place) => call(`c${place}`, { ...words, state, outputs })
      ),
      question('q1', {
        call_id: 'none',
        name: attack,
        reason: attack,
        arguments: values,
        effect: attack,
        hash: attack,
        text: attack
      }),
      question('q2', { call_id: 'none', state: 'denied', name: attack }),
      question('q3', { call_id: 'none', state: attack as Item['state'], name: attack })
    ],
    { model: attack, omitted: [attack], stop_cause: attack, state: 'running' }
  );
}

const actions = {
  stop: async () => undefined,
  shown: () => undefined,
  answer: async () => Promise.reject(new Error('no'))
};

test.each(attacks)('%j is only shown', attack => {
  const place = document.createElement('div');
  const view = new RecordView(place, { actions, prompt: true, compact: true });
  view.update(full(attack));
  [...place.querySelectorAll('button')].find(button => button.textContent === 'Edit')!.click();
  for (const card of place.querySelectorAll('details')) {
    card.open = true;
    card.dispatchEvent(new Event('toggle'));
  }
  expect(foreign(place)).toEqual([]);
  expect(place.querySelectorAll('textarea').length).toBe(4);
  view.dispose();
  expect(place.childNodes.length).toBe(0);
});

test.each(attacks)('%j is only shown while it comes in', attack => {
  const place = document.createElement('div');
  const view = new RecordView(place, { actions });
  for (let end = 1; end <= attack.length; end += 3) {
    view.update(
      record([{ id: '1', kind: 'text', state: 'running', text: attack.slice(0, end) }], { state: 'running' })
    );
    (view as unknown as { draw(): void }).draw();
    expect(foreign(place)).toEqual([]);
  }
  view.dispose();
});

test('markup is text', () => {
  const place = document.createElement('div');
  const words = 'a <b>b</b> <img src="https://evil.example/x.png"> <!-- c -->\n\n<div onclick="x()">d</div>';
  new RecordView(place).update(record([{ id: '1', kind: 'text', state: 'done', text: words }]));
  expect([...place.querySelectorAll('.am-prose p')].map(each => each.textContent)).toEqual(words.split('\n\n'));
});

test('a picture from elsewhere is a link, one that holds its data is shown', () => {
  const place = document.createElement('div');
  const words = `![chart](https://evil.example/leak.png?secret) ![dot](data:image/png;base64,${PNG}) ![x](data:image/svg+xml;base64,PHN2Zz4=)`;
  new RecordView(place).update(record([{ id: '1', kind: 'text', state: 'done', text: words }]));
  expect([...place.querySelectorAll('img')].map(picture => [picture.alt, picture.src])).toEqual([
    ['dot', `data:image/png;base64,${PNG}`]
  ]);
  expect(place.querySelector('a')!.textContent).toBe('chart');
  expect(place.querySelector('a')!.href).toBe('https://evil.example/leak.png?secret');
});

test('a link to anything but the web and mail is not followed', () => {
  const place = document.createElement('div');
  const words =
    '[a](https://a.example) [b](mailto:b@b.example) [c](/etc/passwd) [d](#top) [e](notebook.ipynb) [f](//f.example)';
  new RecordView(place).update(record([{ id: '1', kind: 'text', state: 'done', text: words }]));
  expect([...place.querySelectorAll('a')].map(link => link.getAttribute('href'))).toEqual([
    'https://a.example',
    'mailto:b@b.example'
  ]);
});

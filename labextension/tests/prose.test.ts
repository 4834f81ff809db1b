// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { Prose, TYPESET } from '../src/view/prose';

// They draw a lot, and the machine may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ANSWER = `# Title

Some **bold** and *slanted* words, \`code\`, [a link](https://a.example) and https://b.example/x.

1. one
2. two
   - inner

   with a paragraph

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`python
def f(x):

    return "\`\`" ** 2
\`\`\`

~~~
\`\`\`
not closed by that
~~~

> quoted
> twice

Area $a_1 * b_1 * c$ and \\(x_2\\), but $5 or $6.

$$
a_1 = b_1

- c
$$

\\begin{align}
a &= b_1 \\\\
c &= d
\\end{align}

    indented

---

Last *words*.
`;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What stands there after `text` came in pieces of that size. */
function streamed(text: string, size: number): Prose {
  const prose = new Prose();
  for (let end = size; end < text.length; end += size) {
    prose.update(text.slice(0, end), false);
  }
  prose.update(text, true);
  return prose;
}

function whole(text: string): Prose {
  const prose = new Prose();
  prose.update(text, true);
  return prose;
}

test('draws Markdown, code in colours, maths untouched, tables with their alignment', () => {
  const { element } = whole(ANSWER);
  expect([...element.children].map(child => child.tagName + (child.className ? `.${child.className}` : ''))).toEqual([
    'H1',
    'P',
    'OL',
    'DIV.am-wide',
    'DIV.am-code',
    'DIV.am-code',
    'BLOCKQUOTE',
    'P',
    'DIV.am-maths',
    'DIV.am-maths',
    'DIV.am-code',
    'HR',
    'P'
  ]);
  expect(element.querySelector('.hljs-keyword')!.textContent).toBe('def');
  expect([...element.querySelectorAll('.am-maths')].map(maths => maths.textContent!.trim())).toEqual([
    '$a_1 * b_1 * c$',
    '\\(x_2\\)',
    '$$\na_1 = b_1\n\n- c\n$$',
    '\\begin{align}\na &= b_1 \\\\\nc &= d\n\\end{align}'
  ]);
  expect(element.querySelector('td.am-right')!.textContent).toBe('2');
  expect([...element.querySelectorAll('a')].map(link => [link.href, link.target, link.rel])).toEqual([
    ['https://a.example/', '_blank', 'noopener noreferrer'],
    ['https://b.example/x', '_blank', 'noopener noreferrer']
  ]);
});

test.each([1, 2, 3, 7, 40, 1000])('looks the same in the end when it came in pieces of %i characters', size => {
  expect(streamed(ANSWER, size).element.innerHTML).toBe(whole(ANSWER).element.innerHTML);
});

test.each(['\r\n', '\r'])('takes other line ends (%j), also where they come in two pieces', end => {
  const text = ANSWER.replaceAll('\n', end);
  expect(streamed(text, 1).element.innerHTML).toBe(whole(ANSWER).element.innerHTML);
});

test('lets the words of each block tell their direction, and whole lists and tables follow their first', () => {
  const prose = new Prose();
  prose.update('# שלום\n\nمرحبا `code`\n\n- one\n\n  two\n- three\n\n> quoted\n\n| a |\n|---|\n| b |\n', true);
  const told = [...prose.element.querySelectorAll('[dir]')].map(each => [each.tagName, each.getAttribute('dir')]);
  expect(told).toEqual(['H1', 'P', 'UL', 'BLOCKQUOTE', 'TABLE'].map(name => [name, 'auto']));
});

test('never touches a finished block again', () => {
  const prose = new Prose();
  document.body.append(prose.element);
  const changed = new MutationObserver(() => undefined);
  const paragraphs = Array.from(
    { length: 50 },
    (_, place) => `Paragraph **${place}** of words.\n\n\`\`\`js\nlet x = ${place};\n\`\`\`\n\n`
  );
  let text = '';
  for (const paragraph of paragraphs) {
    prose.update((text += paragraph), false);
  }
  prose.update((text += 'The'), false);
  const finished = [...prose.element.children].slice(0, -1);
  expect(finished.length).toBe(100);
  changed.observe(prose.element, { subtree: true, childList: true, characterData: true, attributes: true });
  for (const word of ' tail grows **and grows** here.\n\nAnd another'.split(/(?= )/)) {
    prose.update((text += word), false);
  }
  const touched = changed.takeRecords().map(record => record.target);
  expect(touched.length).toBeGreaterThan(0);
  expect(touched.filter(node => finished.some(block => block.contains(node)))).toEqual([]);
  expect([...prose.element.children].slice(0, 100)).toEqual(finished);
  prose.element.remove();
});

test('parses only the open end of a long answer', () => {
  const prose = new Prose();
  const long = 'Words in a paragraph that is finished.\n\n'.repeat(600);
  prose.update(long, false);
  const cost = (text: string) => {
    const parse = vi.spyOn(RegExp.prototype, 'exec');
    prose.update(text, false);
    const calls = parse.mock.calls.length;
    parse.mockRestore();
    return calls;
  };
  expect(cost(`${long}A few words more`)).toBeLessThan(300);
  expect(prose.element.children.length).toBe(601);
});

describe('open code', () => {
  test('grows by what is added, in one text, and gets its colours when it is closed', () => {
    const prose = new Prose();
    let text = 'See:\n\n```python\nx = 1\n';
    prose.update(text, false);
    const pre = prose.element.querySelector('pre')!;
    const node = pre.querySelector('code')!.firstChild as Text;
    const added: string[] = [];
    const append = vi.spyOn(Text.prototype, 'appendData').mockImplementation(function (this: Text, data: string) {
      added.push(data);
      this.data += data;
    });
    for (const piece of ['y', ' = 2\n', '\n', 'z = "``', '`"\n', '``', '`']) {
      prose.update((text += piece), false);
    }
    append.mockRestore();
    expect(added).toEqual(['\ny', ' = 2', '\n', '\nz = "``', '`"']);
    expect(pre.querySelector('code')!.firstChild).toBe(node);
    expect(node.data).toBe('x = 1\ny = 2\n\nz = "```"');
    prose.update((text += '\nThen'), false);
    expect(prose.element.querySelector('pre')).toBe(pre);
    expect(pre.querySelector('.hljs-number')!.textContent).toBe('1');
    expect(prose.element.lastElementChild!.textContent).toBe('Then');
  });

  test('that is long is in several pieces, of which only the last one changes', () => {
    const prose = new Prose();
    let text = '```\n';
    while (text.length < 20_000) {
      prose.update((text += `line ${text.length}\n`), false);
    }
    const code = prose.element.querySelector('code')!;
    expect(code.querySelectorAll('.am-piece').length).toBe(4);
    expect(code.textContent).toBe(text.slice(4, -1));
    prose.update((text += '```\n'), false);
    expect(code.childNodes.length).toBe(1);
    expect(code.textContent).toBe(text.slice(4, -5));
  });

  test('is shown to its end where the answer breaks off in it', () => {
    const prose = new Prose();
    prose.update('```\na\n', false);
    prose.update('```\na\n`', false);
    prose.update('```\na\n`', true);
    expect(prose.element.querySelector('code')!.textContent).toBe('a\n`');
  });
});

describe('marks that are not closed yet', () => {
  const open = (text: string) => {
    const prose = new Prose();
    prose.update(text, false);
    return prose.element;
  };

  test('are drawn as they will be', () => {
    expect(open('Some **bold wo').querySelector('strong')!.textContent).toBe('bold wo');
    expect(open('Some **').textContent).toBe('Some');
    expect(open('Some `co').querySelector('code')!.textContent).toBe('co');
    expect(open('See [the page](https://exam').textContent).toBe('See the page');
    expect(open('Done.\n\n- a\n- **b').querySelector('strong')!.textContent).toBe('b');
  });

  test('stay as they are in the end, and in code', () => {
    const prose = new Prose();
    prose.update('Two ** three', true);
    expect(prose.element.textContent).toBe('Two ** three');
    expect(open('```\n2 ** 3').textContent).toContain('2 ** 3');
    expect(open('```\n2 ** 3').querySelector('code')!.textContent).toBe('2 ** 3');
  });
});

test('a long open end is drawn so seldom that drawing takes a part of the time', () => {
  let time = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 10));
  const prose = new Prose();
  let text = '- item\n'.repeat(2000);
  prose.update(text, false);
  const drawn = () => prose.element.querySelectorAll('li').length;
  expect(drawn()).toBe(2000);
  prose.update((text += '- more\n'), false);
  expect(drawn()).toBe(2000);
  vi.advanceTimersByTime(60_000);
  expect(drawn()).toBe(2001);
  clock.mockRestore();
});

test('links by a name that is defined further down', () => {
  const text = 'See [the page][p].\n\nMore.\n\n[p]: https://a.example/p\n';
  const prose = streamed(text, 5);
  expect(prose.element.querySelector('a')!.getAttribute('href')).toBe('https://a.example/p');
});

test('text that was replaced is drawn anew', () => {
  const prose = new Prose();
  prose.update('One.\n\nTwo', false);
  prose.update('Eins.\n\nZwei', false);
  expect([...prose.element.children].map(child => child.textContent)).toEqual(['Eins.', 'Zwei']);
});

test('asks the page to typeset maths that was there before it was put into the page', () => {
  const prose = whole('So $x$ is.');
  document.body.append(prose.element);
  const asked = vi.fn();
  document.addEventListener(TYPESET, asked, { once: true });
  vi.advanceTimersByTime(1);
  prose.element.remove();
  expect((asked.mock.calls[0]![0] as Event).target).toBe(prose.element.querySelector('.am-maths'));
});

test('asks the page to typeset maths, once for each, when it is finished', () => {
  const prose = new Prose();
  document.body.append(prose.element);
  const asked: string[] = [];
  const listener = (event: Event) => asked.push((event.target as HTMLElement).textContent!.trim());
  document.addEventListener(TYPESET, listener);
  prose.update('So $x$ is', false);
  expect(asked).toEqual([]);
  prose.update('So $x$ is.\n\n$$\ny\n$$\n\nAnd', false);
  prose.update('So $x$ is.\n\n$$\ny\n$$\n\nAnd $z$', true);
  vi.advanceTimersByTime(1);
  document.removeEventListener(TYPESET, listener);
  prose.element.remove();
  expect(asked).toEqual(['$x$', '$$\ny\n$$', '$z$']);
});

test('code can be copied, and inserted where the page can', () => {
  const insertCode = vi.fn();
  const prose = new Prose({ insertCode });
  prose.update('```python\nx = 1\n```', true);
  const buttons = [...prose.element.querySelectorAll('button')];
  expect(buttons.map(button => button.textContent)).toEqual(['Copy', 'Insert']);
  buttons[1]!.click();
  expect(insertCode).toHaveBeenCalledWith('x = 1');
  prose.update('```output\nx\n```', true);
  expect([...prose.element.querySelectorAll('button')].map(button => button.textContent)).toEqual(['Copy']);
  expect([...whole('```\nx\n```').element.querySelectorAll('button')].map(button => button.textContent)).toEqual([
    'Copy'
  ]);
});

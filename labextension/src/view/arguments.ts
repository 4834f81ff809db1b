import { codeBlock } from './code';
import { element } from './element';
import { visible } from './wording';

const LANGUAGES: Record<string, string> = {
  code: 'python',
  source: 'python',
  command: 'bash',
  cmd: 'bash',
  script: 'bash',
  sql: 'sql'
};
const LINE = 72;

/** The language of an argument that is code; undefined where it is none, empty where it is text of several lines. */
function codeLanguage(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string') {
    return undefined;
  }
  return Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : value.includes('\n') ? '' : undefined;
}

/** Arguments for reading: code and texts of several lines as they are, whole, the others as JSON. */
export function drawArguments(values: Record<string, unknown>): HTMLElement {
  const drawn = element('div');
  const plain: Record<string, unknown> = {};
  const entries = Object.entries(values);
  for (const [name, value] of entries) {
    const language = codeLanguage(name, value);
    if (language === undefined) {
      plain[name] = value;
      continue;
    }
    if (entries.length > 1) {
      drawn.append(element('div', 'am-label', visible(name)));
    }
    drawn.append(codeBlock(visible(value as string).replace(/\n$/, ''), language));
  }
  if (Object.keys(plain).length > 0) {
    drawn.prepend(codeBlock(visible(readableJson(plain)), 'json'));
  } else if (entries.length === 0) {
    drawn.append(element('div', 'am-note', 'No arguments'));
  }
  return drawn;
}

/** JSON in one line where it fits, else indented. */
export function readableJson(value: unknown): string {
  const line = oneLineJson(value);
  return line.length <= LINE ? line : JSON.stringify(value, null, 2);
}

function oneLineJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(oneLineJson).join(', ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}: ${oneLineJson(each)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

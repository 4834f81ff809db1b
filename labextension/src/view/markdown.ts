import MarkdownIt from 'markdown-it';

import { highlighted } from './highlight';
import { maths } from './maths';
import { isLink, isPicture, sanitised } from './sanitise';

/** What the parts of one text share: the addresses that it defines for its links. */
export interface Environment {
  references?: Record<string, { href: string; title: string }>;
}

export type Token = ReturnType<MarkdownIt['parse']>[number];

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false }).use(maths);
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
markdown.validateLink = address => isLink(address) || isPicture(address);

const { rules } = markdown.renderer;
const { escapeHtml } = markdown.utils;

// A remote picture would be fetched from whoever the model names; a link is only followed by those who click it.
rules.image = (tokens, place, options, environment, renderer) => {
  const token = tokens[place]!;
  const address = String(token.attrGet('src') ?? '');
  const words = renderer.renderInlineAsText(token.children ?? [], options, environment) || 'picture';
  return isPicture(address)
    ? `<img src="${escapeHtml(address)}" alt="${escapeHtml(words)}">`
    : `<a href="${escapeHtml(address)}">${escapeHtml(words)}</a>`;
};

// Words of the right-to-left scripts stand as their readers write them: the first letter of a block tells.
for (const name of ['paragraph_open', 'heading_open', 'bullet_list_open', 'ordered_list_open', 'blockquote_open']) {
  rules[name] = (tokens, place, options, _environment, renderer) => {
    const token = tokens[place]!;
    if (token.level === 0) {
      token.attrSet('dir', 'auto');
    }
    return renderer.renderToken(tokens, place, options);
  };
}
for (const name of ['td_open', 'th_open']) {
  rules[name] = (tokens, place, options, _environment, renderer) => {
    const token = tokens[place]!;
    const align = /right|center/.exec(String(token.attrGet('style') ?? ''))?.[0];
    token.attrs = align ? [['class', `am-${align}`]] : null;
    return renderer.renderToken(tokens, place, options);
  };
}
rules.table_open = () => '<div class="am-wide"><table dir="auto">\n';
rules.table_close = () => '</table></div>\n';
rules.fence = rules.code_block = (tokens, place) => {
  const token = tokens[place]!;
  const language = languageOf(token.info);
  return (
    `<div class="am-code"><pre><code${language ? ` class="language-${escapeHtml(language)}"` : ''}>` +
    `${escapeHtml(token.content.replace(/\n$/, ''))}</code></pre></div>\n`
  );
};

/** The first word after the marks of a fence. */
export function languageOf(info: string): string {
  return /^[\w+#.-]+/.exec(info.trim().replace(/^\{?\.?/, ''))?.[0].toLowerCase() ?? '';
}

export function parse(text: string, environment: Environment): Token[] {
  return markdown.parse(text, environment);
}

/** Tokens as nodes that are safe to show, without colours. */
export function drawn(tokens: Token[], environment: Environment): DocumentFragment {
  return sanitised(markdown.renderer.render(tokens, markdown.options, environment));
}

/** Colour the code in `target`. */
export function colour(target: Element): void {
  for (const code of target.querySelectorAll('code[class^="language-"]')) {
    code.replaceChildren(highlighted(code.textContent ?? '', code.className.slice('language-'.length)));
  }
}

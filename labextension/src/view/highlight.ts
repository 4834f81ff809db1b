import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import diff from 'highlight.js/lib/languages/diff';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import julia from 'highlight.js/lib/languages/julia';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import r from 'highlight.js/lib/languages/r';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

import { sanitised } from './sanitise';

const LANGUAGES = { bash, c, diff, javascript, json, julia, markdown, python, r, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) {
  hljs.registerLanguage(name, language);
}

// Longer code is shown without colours: to find them would hold up the page.
const LIMIT = 60_000;

/** `code` as text with coloured spans; plain where the language is not known. */
export function highlighted(code: string, language: string): Node {
  if (!hljs.getLanguage(language) || code.length > LIMIT) {
    return document.createTextNode(code);
  }
  return sanitised(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

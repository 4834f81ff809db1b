// @vitest-environment jsdom
import * as theirs from 'entities';
import { expect, test } from 'vitest';

import * as ours from '../src/view/entities';

const NAMES = [
  'amp',
  'AMP',
  'lt',
  'nbsp',
  'copy',
  'ouml',
  'semi',
  'Dcaron',
  'ngE',
  'NotEqualTilde',
  'fjlig',
  'hilbertspace'
];
const WRONG = ['Copy', 'copyright', 'ampx', 'hello', 'a', 'x1'];

test.each([...NAMES, ...WRONG])('&%s; is what the package says, also the second time', name => {
  const reference = `&${name};`;
  expect(ours.decodeHTMLStrict(reference)).toBe(theirs.decodeHTMLStrict(reference));
  expect(ours.decodeHTMLStrict(reference)).toBe(theirs.decodeHTMLStrict(reference));
  expect(ours.decodeHTML(reference)).toBe(ours.decodeHTMLStrict(reference));
});

test.each(['</textarea><img src=x onerror=alert(1)>', '&lt', '&amp;&amp;', '&copy;<script>'])(
  '%s is no reference, and no markup',
  text => {
    expect(ours.decodeHTML(text)).toBe(text);
  }
);

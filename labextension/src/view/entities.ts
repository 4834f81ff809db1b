/** Stands in the bundles for the package of this name, as far as markdown-it uses it: browsers know the table, too. */

// What markdown-it hands over, and nothing that could be more than a text.
const NAMED = /^&[a-z][a-z0-9]*;$/i;

const known = new Map<string, string>();

/** The characters of one named reference such as `&copy;`; what is none comes back as it is. */
export function decodeHTMLStrict(reference: string): string {
  let decoded = known.get(reference);
  if (decoded === undefined) {
    decoded = NAMED.test(reference) ? asked(reference) : reference;
    known.set(reference, decoded);
  }
  return decoded;
}

export { decodeHTMLStrict as decodeHTML };

function asked(reference: string): string {
  const field = document.createElement('textarea');
  field.innerHTML = reference;
  // Of `&copyright;` browsers take the beginning, for the sake of old pages, and leave the rest.
  return field.value.length > 1 && field.value.endsWith(';') ? reference : field.value;
}

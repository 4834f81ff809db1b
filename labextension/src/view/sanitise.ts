import createDOMPurify from 'dompurify';

const TAGS = [
  ...[
    'a',
    'blockquote',
    'br',
    'code',
    'div',
    'em',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'hr',
    'img',
    'li',
    'ol',
    'p',
    'pre'
  ],
  ...['s', 'span', 'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul']
];
const ATTRIBUTES = ['alt', 'class', 'dir', 'href', 'src', 'start', 'title'];
const CLASS =
  /^(?:am-[a-z-]+|hljs-[\w-]+|language-[\w+#.-]+|(?:function_|class_|inherited__|invoke__|constant_|language_|escape_|builtin_))$/;

const LINK = /^(?:https?:\/\/|mailto:)/i;
const PICTURE = /^data:image\/(?:png|jpeg|gif);base64,[a-z0-9+/=]+$/i;

/** Whether a link may be followed: the web and mail, and nothing that this page or machine would act on. */
export function isLink(address: string): boolean {
  return LINK.test(address);
}

/** Whether an address is a picture that holds its own data. Others would tell somebody that they were looked at. */
export function isPicture(address: string): boolean {
  return PICTURE.test(address);
}

const purify = createDOMPurify(window);

purify.addHook('afterSanitizeAttributes', node => {
  for (const name of [...node.classList]) {
    if (!CLASS.test(name)) {
      node.classList.remove(name);
    }
  }
  if (node.hasAttribute('class') && node.classList.length === 0) {
    node.removeAttribute('class');
  }
  if (node.hasAttribute('dir')) {
    node.setAttribute('dir', 'auto');
  }
  if (node.hasAttribute('src') && (node.tagName !== 'IMG' || !isPicture(node.getAttribute('src')!))) {
    node.removeAttribute('src');
  }
  if (node.hasAttribute('href')) {
    if (node.tagName === 'A' && isLink(node.getAttribute('href')!)) {
      node.setAttribute('target', '_blank');
      node.setAttribute('rel', 'noopener noreferrer');
    } else {
      node.removeAttribute('href');
    }
  }
});

/** `html` as nodes: only elements of written text, no styles, scripts, forms or names, and only safe addresses. */
export function sanitised(html: string): DocumentFragment {
  return purify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true
  });
}

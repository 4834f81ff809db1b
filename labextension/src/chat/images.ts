import type { Attachment } from '../protocol/messages';
import { messageOf, type Words } from './words';

// What models read, and a size (bytes) that every provider takes.
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const IMAGE_LIMIT = 5_000_000;

/** Attach the images that are pasted into or dropped on `target`. */
export function takeFiles(target: HTMLElement, attachFiles: (files: File[]) => Promise<void>): void {
  target.addEventListener('paste', event => {
    const files = [...(event.clipboardData?.files ?? [])].filter(file => file.type.startsWith('image/'));
    // Spreadsheets and text processors put a picture of what was copied beside it.
    const isText = ['text/plain', 'text/html'].every(type => event.clipboardData?.types.includes(type));
    if (files.length > 0 && !isText) {
      event.preventDefault();
      void attachFiles(files);
    }
  });
  target.addEventListener('dragover', event => {
    if (event.dataTransfer?.types.includes('Files')) {
      event.preventDefault();
      target.classList.add('am-chat-drop');
    }
  });
  target.addEventListener('dragleave', event => {
    if (!target.contains(event.relatedTarget as Node | null)) {
      target.classList.remove('am-chat-drop');
    }
  });
  target.addEventListener('drop', event => {
    target.classList.remove('am-chat-drop');
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      event.stopPropagation();
      void attachFiles(files);
    }
  });
}

/** Read `files` as attachments and hand on each, or what is wrong with it. */
export async function attachImages(
  files: File[],
  words: Words,
  attach: (attachment: Attachment) => void,
  fail: (text: string) => void
): Promise<void> {
  for (const file of files) {
    try {
      attach(await readImage(file, words));
    } catch (error) {
      fail(messageOf(error));
    }
  }
}

/** The file as an attachment; rejects with what is wrong with it. */
async function readImage(file: File, words: Words): Promise<Attachment> {
  const name = file.name || words('the image');
  if (!IMAGE_TYPES.includes(file.type)) {
    throw new Error(words('%1 cannot be attached: models read PNG, JPEG, GIF and WebP images.', name));
  }
  if (file.size > IMAGE_LIMIT) {
    throw new Error(words('%1 is larger than %2 MB: attach a smaller one.', name, IMAGE_LIMIT / 1e6));
  }
  return { kind: 'image', mime: file.type, data: await base64Of(file) };
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve((reader.result as string).split(',', 2)[1] ?? ''));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)));
    reader.readAsDataURL(file);
  });
}

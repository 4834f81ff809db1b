import type { IOutput, MultilineString } from '@jupyterlab/nbformat';

// Characters of the text of one cell's outputs that leave the page; the end of a traceback says most.
const LIMIT = 20_000;
// Colours and moves of the cursor.
const ESCAPES = /\x1b\[[0-9;?]*[ -/]*[@-~]/g;

/** The text of the outputs of a cell: what was printed, what was shown as text, tracebacks. */
export function textOf(outputs: readonly IOutput[]): string {
  return shortened(
    outputs
      .map(output => textOfOutput(output).replace(ESCAPES, '').trimEnd())
      .filter(Boolean)
      .join('\n')
  );
}

/** The last error among `outputs`, in words; null if nothing failed. */
export function errorIn(outputs: readonly IOutput[]): string | null {
  const errors = outputs.filter(output => output.output_type === 'error');
  return errors.length > 0 ? textOf(errors.slice(-1)) : null;
}

/** Whether the last error among `outputs` says only that somebody stopped the cell. */
export function isInterrupted(outputs: readonly IOutput[]): boolean {
  return outputs.filter(output => output.output_type === 'error').at(-1)?.ename === 'KeyboardInterrupt';
}

function textOfOutput(output: IOutput): string {
  switch (output.output_type) {
    case 'stream':
      return joined(output.text as MultilineString);
    case 'error': {
      const traceback = output.traceback as string[] | undefined;
      return traceback?.length ? traceback.join('\n') : `${String(output.ename)}: ${String(output.evalue)}`;
    }
    default: {
      const text = (output.data as Record<string, unknown> | undefined)?.['text/plain'];
      return text === undefined ? '' : joined(text as MultilineString);
    }
  }
}

function joined(text: MultilineString): string {
  return Array.isArray(text) ? text.join('') : String(text);
}

function shortened(text: string): string {
  if (text.length <= LIMIT) {
    return text;
  }
  const half = LIMIT / 2;
  return `${text.slice(0, half)}\n[${text.length - LIMIT} characters left out]\n${text.slice(-half)}`;
}

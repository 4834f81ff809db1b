import type { Kernel } from '@jupyterlab/services';
import type { KernelComm } from './comm';
import type { Words } from './words';

/** Load agent_magic into a kernel: no cell, nothing in its history. Fails with what to install where. */
export async function loadAgent(kernel: Kernel.IKernelConnection, comm: KernelComm, words: Words): Promise<void> {
  const reply = await execute(kernel, '%load_ext agent_magic');
  if (reply.status === 'ok') {
    if (comm.state === 'open' || (await comm.search())) {
      return;
    }
    throw new Error(
      words(
        'The agent_magic of this kernel knows no panel. Run "%pip install --upgrade agent-magic" in a cell, then restart the kernel.'
      )
    );
  }
  if (reply.status === 'error' && reply.ename === 'ModuleNotFoundError' && reply.evalue.includes("'agent_magic'")) {
    throw new Error(
      words(
        'agent_magic is not installed for the Python of this kernel, %1. Run "%pip install agent-magic" in a cell, then try again.',
        await executable(kernel)
      )
    );
  }
  throw new Error(
    reply.status === 'error'
      ? words('agent_magic could not be loaded: %1', `${reply.ename}: ${reply.evalue}`)
      : words('The kernel was interrupted before it had loaded agent_magic.')
  );
}

async function executable(kernel: Kernel.IKernelConnection): Promise<string> {
  const reply = await execute(kernel, '', { python: '__import__("sys").executable' });
  const value =
    reply.status === 'ok'
      ? (reply.user_expressions.python as { data?: Record<string, string> } | undefined)
      : undefined;
  return (value?.data?.['text/plain'] ?? kernel.name).replace(/^'|'$/g, '');
}

async function execute(kernel: Kernel.IKernelConnection, code: string, expressions: Record<string, string> = {}) {
  const reply = await kernel.requestExecute({
    code,
    silent: true,
    store_history: false,
    allow_stdin: false,
    stop_on_error: false,
    user_expressions: expressions
  }).done;
  return reply.content;
}

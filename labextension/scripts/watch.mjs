// Builds everything again whenever a source changes; reload the page to see it.
import { spawn } from 'node:child_process';

const commands = [
  ['tsc', '--build', '--watch', '--preserveWatchOutput'],
  ['node', 'scripts/widgets.mjs', '--watch'],
  ['jupyter-builder', 'watch', '.']
];
for (const [command, ...rest] of commands) {
  spawn(command, rest, { stdio: 'inherit' }).on('exit', code => process.exit(code ?? 1));
}

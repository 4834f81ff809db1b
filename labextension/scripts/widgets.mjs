// Bundles the two ES modules that anywidget loads: a small loader, and the view that it asks the kernel for.
import { build, context } from 'esbuild';

const options = {
  entryPoints: { loader: 'src/widget/loader.ts', view: 'src/widget/view.ts' },
  outdir: '../agent_magic/static',
  bundle: true,
  format: 'esm',
  target: 'es2020',
  minify: true,
  legalComments: 'none',
  loader: { '.css': 'text' },
  alias: { entities: './src/view/entities.ts' },
  logLevel: 'warning'
};

if (process.argv.includes('--watch')) {
  await (await context(options)).watch();
} else {
  await build(options);
}

// What JupyterLab's builder is told beside its own settings.
const { resolve } = require('node:path');

module.exports = { resolve: { alias: { entities: resolve(__dirname, '../lib/view/entities.js') } } };

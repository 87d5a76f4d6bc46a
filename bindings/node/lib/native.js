'use strict';
// Finds the library of this platform.

const path = require('node:path');

/** Whether this Node.js is linked to musl, as on Alpine. */
function isMusl() {
  return process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
}

const name = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;

function load() {
  const file = process.env.UIDRING_NODE_LIBRARY || path.join(__dirname, 'native', `${name}.node`);
  try {
    return require(file);
  } catch (problem) {
    throw new Error(
      `uidring's library for ${name} cannot be loaded: reinstall the package, or if there is ` +
        'none for this platform, build it from a clone by bindings/node/build',
      { cause: problem },
    );
  }
}

module.exports = load();

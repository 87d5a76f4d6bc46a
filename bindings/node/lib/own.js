'use strict';

/** What a constructor is called with by the package alone. */
module.exports = { own: Symbol('own') };

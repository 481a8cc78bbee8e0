// Prints all rows of views of a store, as one JSON object: node read_views.cjs STORE VIEW...
"use strict";

const Database = require("better-sqlite3");

const [path, ...views] = process.argv.slice(2);
const store = new Database(path, { readonly: true, fileMustExist: true });
const read = (view) => [view, store.prepare(`SELECT * FROM ${view}`).raw().all()];
process.stdout.write(JSON.stringify(Object.fromEntries(views.map(read))));

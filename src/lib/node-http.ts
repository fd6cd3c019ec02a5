/** Node's HTTP, as it has it: an `import` looks at every export, and for one of them Node loads all of its own fetch, for 20 ms. */
export const { createServer, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');

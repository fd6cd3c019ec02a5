/** The Python client's types (PEP 589) and methods, for the blocking and the asyncio client; pure */
import type { ClientModel } from './client-model.ts';
import { pythonResources } from './python-resources.ts';
import { pythonTypes } from './python-types.ts';

const FOLDER = 'src/offhook/_generated';

export function emitPython(model: ClientModel): Readonly<Record<string, string>> {
  return {
    [`${FOLDER}/__init__.py`]: '',
    [`${FOLDER}/types.py`]: pythonTypes(model),
    [`${FOLDER}/resources.py`]: pythonResources(model, 'blocking'),
    [`${FOLDER}/async_resources.py`]: pythonResources(model, 'asyncio'),
  };
}

/** Writes the types of the REST interface for the dashboard (`#api`) from its OpenAPI document, before types are checked. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { createHollowApi } from './support/api/api-description.ts';

const FOLDER = join(import.meta.dirname, '../dist');

const response = await createHollowApi().request('/api/openapi.json');
const types = astToString(await openapiTS(await response.text(), { immutable: true }));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, 'api.d.ts'), types);

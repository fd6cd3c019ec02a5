/** The PHP client's types (PHPStan array shapes) and methods; pure */
import type { ClientModel } from './client-model.ts';
import { phpResources } from './php-resources.ts';
import { docComment, phpTypes } from './php-types.ts';
import { GENERATED } from './source-text.ts';

export function emitPhp(model: ClientModel): Readonly<Record<string, string>> {
  const files = { ...phpResources(model), 'Types.php': typesFile(model) };
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [`generated/${name}`, text]),
  );
}

function typesFile(model: ClientModel): string {
  const lines = [
    'JSON of the interface, as array shapes to import with `@phpstan-import-type`.',
    '',
  ];
  return `<?php

// ${GENERATED}

declare(strict_types=1);

namespace Offhook\\Generated;

${docComment([...lines, ...phpTypes(model)])}
final class Types
{
}
`;
}

/** API keys as customers see them: never the key itself, save once; pure */
import type { z } from '@hono/zod-openapi';
import type { ApiKey } from '../../domain/account/api-key.ts';
import type { createdKeySchema, keySchema } from '../schemas/key-schemas.ts';

export function serializeKey(apiKey: ApiKey): z.infer<typeof keySchema> {
  return {
    id: apiKey.id,
    name: apiKey.name,
    environment: apiKey.environment,
    prefix: apiKey.prefix,
    lastFour: apiKey.lastFour,
    scopes: [...apiKey.scopes],
    createdAt: apiKey.createdAt.toISOString(),
    lastUsedAt: apiKey.lastUsedAt?.toISOString() ?? null,
    revokedAt: apiKey.revokedAt?.toISOString() ?? null,
  };
}

export function serializeCreatedKey(
  apiKey: ApiKey,
  keyText: string,
): z.infer<typeof createdKeySchema> {
  return { ...serializeKey(apiKey), key: keyText };
}

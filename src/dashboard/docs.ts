/** `/docs`: the API reference of this server, written by Scalar from the OpenAPI document. */
import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';

createApiReference('#api-reference', {
  url: 'api/openapi.json',
  // Requests of *try it* go to the address that this page came from, which its policy allows.
  servers: [{ url: new URL('.', location.href).href.replace(/\/$/, '') }],
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  documentDownloadType: 'json',
  persistAuth: false,
  // Nothing is loaded from or sent to another host.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});

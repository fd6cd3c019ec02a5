/** `/docs`: the API reference of this server, written by Scalar from the OpenAPI document, in the dashboard's colours. */
import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';
import './style/tokens.css';
import './style/docs.css';
import { BROWSER, kept } from './kept.ts';

const theme = kept(BROWSER, 'theme') ?? 'auto';

const isDark =
  theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);

document.documentElement.dataset.theme = isDark ? 'dark' : 'light';

createApiReference('#api-reference', {
  url: 'api/openapi.json',
  theme: 'none',
  // The theme is chosen in the dashboard.
  forceDarkModeState: isDark ? 'dark' : 'light',
  hideDarkModeToggle: true,
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

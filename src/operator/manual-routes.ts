/** `/manual/…`: the manual, which loads from this server alone, its search too. */
import type { ApiApp } from '../api/api-env.ts';
import { ServiceError } from '../domain/service-error.ts';
import type { ManualFiles } from './manual-files.ts';
import { sendNotBuilt, sendPage } from './page-routes.ts';

const MANUAL_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'connect-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

export function addManualRoutes(api: ApiApp, files: ManualFiles): void {
  // Links of the pages are relative to the folder. The target too: a proxy may serve all of this under a path of its own.
  api.get('/manual', (context) => context.body(null, 308, { Location: 'manual/' }));

  api.get('/manual/*', (context) => {
    if (!files.isBuilt) return sendNotBuilt(context, { title: 'manual', policy: MANUAL_POLICY });
    const file = files.file(context.req.path.slice('/manual/'.length));
    if (file === undefined) {
      throw new ServiceError('NOT_FOUND', 'Cannot find this page of the manual: see /manual/');
    }
    return sendPage(context, file, { cacheControl: 'no-cache', policy: MANUAL_POLICY });
  });
}

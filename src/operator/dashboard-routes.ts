/** `/dashboard/…`: the routes of the page itself, and the guards that each of their requests passes. */
import type { ApiApp, ApiDeps } from '../api/api-env.ts';
import type { Dashboard } from './dashboard.ts';
import { dashboardBody, requireRole, retrySoon, sameOrigin } from './dashboard-requests.ts';
import { addManualRoutes } from './manual-routes.ts';
import { addPageRoutes } from './page-routes.ts';
import { addPhoneRoutes } from './phone-routes.ts';
import { addSelfTestRoutes } from './self-test-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSignInRoutes } from './sign-in-routes.ts';
import { addUserRoutes } from './user-routes.ts';

/** None of it is in the OpenAPI document: it is no interface for customers. */
export function addDashboardRoutes(api: ApiApp, deps: ApiDeps, dashboard: Dashboard): void {
  const guards = [sameOrigin(deps.publicUrl), retrySoon, dashboardBody] as const;
  api.use('/dashboard/*', ...guards, requireRole(dashboard.sessions));
  addSignInRoutes(api, deps, dashboard);
  addSessionRoutes(api, deps, dashboard);
  addUserRoutes(api, deps, dashboard);
  addPhoneRoutes(api, deps, dashboard);
  addSelfTestRoutes(api, dashboard);
  addPageRoutes(api, dashboard.files);
  addManualRoutes(api, dashboard.manual);
}

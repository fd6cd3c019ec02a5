/** Shown where an address names no page. */
import { t } from '../app-state.ts';
import { Page } from '../parts/page.tsx';

export function NotFoundPage() {
  return (
    <Page title={t('notFound.title')}>
      <div class="empty">
        <p>{t('notFound.text')}</p>
        <a class="button main" href="#/overview">
          {t('notFound.back')}
        </a>
      </div>
    </Page>
  );
}

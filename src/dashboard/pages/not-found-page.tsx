/** Shown where an address names no page. */
import { t } from '../app-state.ts';
import { LinkButton, Page } from '../parts/page.tsx';

export function NotFoundPage() {
  return (
    <Page title={t('notFound.title')}>
      <div class="empty">
        <p>{t('notFound.text')}</p>
        <LinkButton isMain href="#/overview" text={t('notFound.back')} />
      </div>
    </Page>
  );
}

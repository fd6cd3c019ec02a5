import { expect, test } from 'vitest';
import { searchSections } from '../../docs/tools/search-sections.ts';

const PAGE = `<title>Deployment – Offhook</title><body><nav><h2 id="no">Pages</h2></nav><main>
<h1 id="deployment">Deployment</h1><p>On a machine &amp; <code>npm ci</code>.</p>
<h2 id="behind-nat">Behind <code>NAT</code></h2><table><tr><td>One</td><td>two</td></tr></table></main><p>Foot</p>`;

test('searchSections gives each heading of the page its own text, without navigation and foot', () => {
  expect(searchSections(PAGE, 'deploy.html')).toEqual([
    {
      id: 'deploy.html#deployment',
      page: 'Deployment',
      heading: 'Deployment',
      text: 'On a machine & npm ci.',
    },
    { id: 'deploy.html#behind-nat', page: 'Deployment', heading: 'Behind NAT', text: 'One two' },
  ]);
});

test('searchSections of a page without a heading is empty', () => {
  expect(searchSections('<main><p>Words</p></main>', 'a.html')).toEqual([]);
});

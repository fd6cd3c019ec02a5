/** Whole conversations from text files, compared with reviewed golden files. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { readScene } from './support/scene.ts';
import { SceneWorld } from './support/scene-world.ts';

const FOLDER = join(import.meta.dirname, 'scenes');
const scenes = globSync('*.scene', { cwd: FOLDER }).sort();

test('there are scenes', () => {
  expect(scenes.length).toBeGreaterThan(20);
});

test.each(scenes)('the scene %s goes as it always went', async (file) => {
  const scene = readScene(readFileSync(join(FOLDER, file), 'utf8'));

  const trace = new SceneWorld(scene).play();

  const golden = join(FOLDER, `${basename(file, '.scene')}.golden`);
  await expect(`${trace.join('\n')}\n`).toMatchFileSnapshot(golden);
});

test('readScene names a line that it cannot read', () => {
  expect(() => readScene('caller sings')).toThrow('Cannot read scene line "caller sings"');
});

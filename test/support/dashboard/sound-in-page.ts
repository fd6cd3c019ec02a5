/** Sound that a page plays, and waveforms that it draws. */
import type { Page } from 'playwright-core';

/** Script for `addInitScript`: taps everything that the page plays, per stereo channel. */
export const PLAYBACK_TAP = `(() => {
  const connect = AudioNode.prototype.connect;
  const sides = new WeakMap();
  AudioNode.prototype.connect = function (target, ...rest) {
    if (target instanceof AudioDestinationNode) {
      const { context } = target;
      if (!sides.has(context)) {
        const splitter = context.createChannelSplitter(2);
        const analysers = [0, 1].map((side) => {
          const analyser = context.createAnalyser();
          connect.call(splitter, analyser, side);
          return analyser;
        });
        window.playbackTap = { context, analysers, loudest: [0, 0] };
        sides.set(context, splitter);
        const look = () => {
          window.playbackTap.analysers.forEach((analyser, side) => {
            const samples = new Float32Array(analyser.fftSize);
            analyser.getFloatTimeDomainData(samples);
            for (const sample of samples) {
              window.playbackTap.loudest[side] = Math.max(window.playbackTap.loudest[side], Math.abs(sample));
            }
          });
          if (context.state !== 'closed') setTimeout(look, 50);
        };
        look();
      }
      connect.call(this, sides.get(context));
    }
    return connect.call(this, target, ...rest);
  };
})()`;

/** The loudest that each side of a call has been in the page, from 0 to 1. */
export async function loudness(
  page: Page,
): Promise<{ readonly caller: number; readonly agent: number }> {
  const [caller, agent] = (await page.evaluate('window.playbackTap?.loudest ?? [0, 0]')) as [
    number,
    number,
  ];
  return { caller, agent };
}

/** How many columns of each half of the wave's canvas are drawn higher than silence is. */
export async function waveInk(
  page: Page,
): Promise<{ readonly caller: number; readonly agent: number }> {
  return (await page.evaluate(`(() => {
    const canvas = document.querySelector('.waves canvas');
    const half = Math.floor(canvas.height / 2);
    const inked = (top) => {
      const { data, width } = canvas.getContext('2d').getImageData(0, top, canvas.width, half - 4);
      let columns = 0;
      for (let x = 0; x < width; x += 1) {
        let height = 0;
        for (let y = 0; y < half - 4; y += 1) height += data[(y * width + x) * 4 + 3] > 0 ? 1 : 0;
        if (height > 6 * devicePixelRatio) columns += 1;
      }
      return columns;
    };
    return { caller: inked(0), agent: inked(half + 2) };
  })()`)) as { caller: number; agent: number };
}

/** Where the bars of the turns lie: 0 is the left edge of the wave's canvas, 1 its right. */
export async function barPlaces(
  page: Page,
): Promise<readonly { readonly from: number; readonly to: number }[]> {
  return (await page.evaluate(`(() => {
    const { left, width } = document.querySelector('.waves canvas').getBoundingClientRect();
    return [...document.querySelectorAll('.turn-lane rect')].map((bar) => {
      const box = bar.getBoundingClientRect();
      return { from: (box.left - left) / width, to: (box.right - left) / width };
    });
  })()`)) as readonly { from: number; to: number }[];
}

/** Where the playhead is, likewise. */
export async function playheadPlace(page: Page): Promise<number> {
  return (await page.evaluate(`(() => {
    const { left, width } = document.querySelector('.waves canvas').getBoundingClientRect();
    return (document.querySelector('.playhead').getBoundingClientRect().left - left) / width;
  })()`)) as number;
}

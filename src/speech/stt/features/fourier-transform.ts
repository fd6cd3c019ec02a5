/** The discrete Fourier transform of the 400-sample window that Whisper looks through; pure */

/** Samples in one window: 25 ms at 16 kHz. */
export const WINDOW_SAMPLES = 400;

/** 4 * 4 * 5 * 5 = 400. An even number of stages, so the result lands where the input was. */
const RADICES = [4, 4, 5, 5] as const;

/** One pass over the data, which joins `radix` transforms of `span` points into one. */
interface Stage {
  readonly radix: number;
  readonly span: number;
  /** How many joined transforms come out of this pass. */
  readonly groups: number;
  /** exp(-2 pi i * leg * bin / (span * radix)) as cosine and sine, for each bin and, within it, each leg. */
  readonly roots: Float64Array;
}

const STAGES = planStages();

/**
 * Transforms 400 complex points in place. Keeps work space: use one instance a thread of computing.
 *
 * @see Stockham's self-sorting transform: C. Van Loan, Computational Frameworks for the FFT, section 1.7
 */
export class FourierTransform {
  readonly re = new Float64Array(WINDOW_SAMPLES);
  readonly im = new Float64Array(WINDOW_SAMPLES);
  readonly #workRe = new Float64Array(WINDOW_SAMPLES);
  readonly #workIm = new Float64Array(WINDOW_SAMPLES);

  /** Replaces `re` and `im` by their transform. */
  run(): void {
    let from = { re: this.re, im: this.im };
    let to = { re: this.#workRe, im: this.#workIm };
    for (const stage of STAGES) {
      joinTransforms(stage, from, to);
      [from, to] = [to, from];
    }
  }
}

interface ComplexPoints {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** Every output is the sum over the joined transforms' bins, each turned by its root of unity. */
function joinTransforms(stage: Stage, from: ComplexPoints, to: ComplexPoints): void {
  const { radix, span, groups, roots } = stage;
  const { re: fromRe, im: fromIm } = from;
  const step = groups * span;
  for (let output = 0; output < WINDOW_SAMPLES; output += 1) {
    const bin = output % (span * radix);
    let source = (output - bin) / radix + (bin % span);
    let root = 2 * radix * bin;
    let re = 0;
    let im = 0;
    for (let leg = 0; leg < radix; leg += 1) {
      const x = fromRe[source] as number;
      const y = fromIm[source] as number;
      const cos = roots[root] as number;
      const sin = roots[root + 1] as number;
      re += x * cos - y * sin;
      im += x * sin + y * cos;
      source += step;
      root += 2;
    }
    to.re[output] = re;
    to.im[output] = im;
  }
}

function planStages(): Stage[] {
  const stages: Stage[] = [];
  let span = 1;
  for (const radix of RADICES) {
    stages.push({
      radix,
      span,
      groups: WINDOW_SAMPLES / (span * radix),
      roots: rootsOf(span * radix, radix),
    });
    span *= radix;
  }
  return stages;
}

function rootsOf(size: number, radix: number): Float64Array {
  const roots = new Float64Array(2 * size * radix);
  for (let bin = 0; bin < size; bin += 1) {
    for (let leg = 0; leg < radix; leg += 1) {
      const angle = (-2 * Math.PI * leg * bin) / size;
      roots[2 * (bin * radix + leg)] = Math.cos(angle);
      roots[2 * (bin * radix + leg) + 1] = Math.sin(angle);
    }
  }
  return roots;
}

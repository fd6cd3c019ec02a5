/** What is counted and measured about recordings and their disk. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** The free space of a disk. */
export interface MeasuredDisk {
  /** Undefined where the file system does not say. */
  readonly freeBytes: number | undefined;
  /** Bound below which no recording begins. */
  readonly freeMinBytes: number;
}

export class RecordingMetrics {
  readonly #registry: Registry;
  readonly #failed: Counter<'how'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#failed = new Counter({
      name: 'offhook_recordings_failed_total',
      help: 'Recordings that were cut short or did not begin: the disk is full, or refuses.',
      labelNames: ['how'],
      registers: [registry],
    });
  }

  /** A recording was cut short, or did not begin. */
  failed(how: 'cut_short' | 'not_begun'): void {
    this.#failed.inc({ how });
  }

  /** Adds the free space of the recordings' disk, read at every scrape, and its bound. Once. */
  watch(disk: MeasuredDisk): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'offhook_disk_free_bytes',
      help: 'Free space on the disk of the recordings.',
      registers,
      collect() {
        if (disk.freeBytes === undefined) this.reset();
        else this.set(disk.freeBytes);
      },
    });
    new Gauge({
      name: 'offhook_disk_free_min_bytes',
      help: 'Free space below which no recording begins: DISK_FREE_MIN_MB.',
      registers,
    }).set(disk.freeMinBytes);
  }
}

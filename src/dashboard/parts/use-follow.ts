/** Keeps a box that scrolls at its newest words, unless the reader has scrolled up to read. */

import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { complain } from '../app-state.ts';

/** Distance from the end of the box that counts as its end. */
const NEAR_PX = 120;

export function useFollow<Box extends HTMLElement>(
  dependencies: readonly unknown[],
): RefObject<Box | null> {
  const ref = useRef<Box>(null);
  useEffect(() => {
    const box = ref.current;
    if (box === null) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_PX) {
      box.scrollTop = box.scrollHeight;
    }
  }, [...dependencies]);
  return ref;
}

export interface Player {
  /** Goes to the `audio` element. */
  readonly element: RefObject<HTMLAudioElement | null>;
  readonly atMs: ReadonlySignal<number>;
  readonly isPlaying: ReadonlySignal<boolean>;
  /** 0 until the browser knows it. */
  readonly durationMs: ReadonlySignal<number>;
  readonly seek: (atMs: number) => void;
  readonly play: () => void;
  readonly toggle: () => void;
  readonly setRate: (rate: number) => void;
}

export function usePlayer(): Player {
  const element = useRef<HTMLAudioElement>(null);
  const [atMs, isPlaying, durationMs] = [useSignal(0), useSignal(false), useSignal(0)];
  useEffect(() => {
    const audio = element.current;
    if (audio === null) return;
    let frame = 0;
    const look = () => {
      atMs.value = audio.currentTime * 1000;
      isPlaying.value = !audio.paused;
      durationMs.value = Number.isFinite(audio.duration) ? audio.duration * 1000 : 0;
      // The browser reports progress four times a second, which is too seldom for a moving line.
      cancelAnimationFrame(frame);
      if (!audio.paused) frame = requestAnimationFrame(look);
    };
    const news = ['play', 'pause', 'ended', 'seeked', 'timeupdate', 'durationchange'] as const;
    for (const name of news) audio.addEventListener(name, look);
    return () => {
      cancelAnimationFrame(frame);
      for (const name of news) audio.removeEventListener(name, look);
      audio.pause();
    };
  }, []);
  return useMemo(() => ({ element, atMs, isPlaying, durationMs, ...deedsOf(element, atMs) }), []);
}

function deedsOf(element: RefObject<HTMLAudioElement | null>, atMs: { value: number }) {
  const play = () => {
    element.current?.play().catch((error: unknown) => {
      // A pause that overtakes the beginning is no trouble.
      if (!(error instanceof DOMException && error.name === 'AbortError')) complain(error);
    });
  };
  return {
    play,
    seek: (toMs: number) => {
      const audio = element.current;
      if (audio === null) return;
      audio.currentTime = Math.max(0, toMs / 1000);
      atMs.value = Math.max(0, toMs);
    },
    toggle: () => {
      const audio = element.current;
      if (audio?.paused) play();
      else audio?.pause();
    },
    setRate: (rate: number) => {
      if (element.current !== null) element.current.playbackRate = rate;
    },
  };
}

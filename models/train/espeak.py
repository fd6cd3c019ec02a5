"""libespeak-ng in process, so that no process is started for each phrase; tells when words and phonemes begin."""

import ctypes

import numpy as np

# speak_lib.h
AUDIO_OUTPUT_SYNCHRONOUS = 2
INITIALIZE_PHONEME_EVENTS = 1
CHARS_UTF8 = 1
POSITION_CHARACTER = 1
EVENT_LIST_END = 0
EVENT_WORD = 1
EVENT_PHONEME = 7
PARAMETER_RATE = 1
PARAMETER_PITCH = 3
PARAMETER_WORD_GAP = 7


class Event(ctypes.Structure):
    """`espeak_EVENT`."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position_ms", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("string", ctypes.c_char * 8),
    ]


CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event)
)


class Espeak:
    """One voice at a time; `rate_hz` is 22,050."""

    def __init__(self):
        self.library = ctypes.CDLL("libespeak-ng.so.1")
        self.rate_hz = self.library.espeak_Initialize(
            AUDIO_OUTPUT_SYNCHRONOUS, 0, None, INITIALIZE_PHONEME_EVENTS
        )
        self.pieces, self.words, self.phonemes = [], [], []
        # Kept, because the library holds only the address.
        self.callback = CALLBACK(self.take)
        self.library.espeak_SetSynthCallback(self.callback)

    def take(self, wave, count, events):
        if count > 0 and wave:
            self.pieces.append(np.ctypeslib.as_array(wave, (count,)).copy())
        index = 0
        while events[index].type != EVENT_LIST_END:
            event = events[index]
            if event.type == EVENT_WORD:
                self.words.append((event.text_position - 1, event.length, event.audio_position_ms))
            if event.type == EVENT_PHONEME:
                phoneme = event.string.decode("utf8", "replace")
                self.phonemes.append((event.audio_position_ms, phoneme))
            index += 1
        return 0

    def say(self, text, voice, words_per_minute, pitch, word_gap):
        """Speaks a text.

        Returns int16 samples and the words as `(character, length, ms)`; `(None, None)` when there is
        no such voice. The phonemes, as `(ms, phoneme)`, are in `self.phonemes` until the next call.
        """
        self.pieces, self.words, self.phonemes = [], [], []
        if self.library.espeak_SetVoiceByName(voice.encode()) != 0:
            return None, None
        for parameter, value in (
            (PARAMETER_RATE, words_per_minute),
            (PARAMETER_PITCH, pitch),
            (PARAMETER_WORD_GAP, word_gap),
        ):
            self.library.espeak_SetParameter(parameter, value, 0)
        data = text.encode()
        self.library.espeak_Synth(
            data, len(data) + 1, 0, POSITION_CHARACTER, 0, CHARS_UTF8, None, None
        )
        self.library.espeak_Synchronize()
        return (np.concatenate(self.pieces) if self.pieces else None), self.words

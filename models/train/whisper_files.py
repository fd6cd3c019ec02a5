"""The JSON files that accompany a Whisper's ONNX files, as transformers.js and onnx-community lay them out."""

import json

LANGUAGES = ("<|en|>", "<|es|>")


def write_whisper_files(folder, vocabulary, options):
    """`options` are the arguments of train.py that the checkpoint holds."""
    write(folder, "config.json", config(vocabulary, options))
    write(folder, "generation_config.json", generation_config(vocabulary, options))
    write(folder, "preprocessor_config.json", PREPROCESSOR)
    write(folder, "tokenizer.json", tokenizer(vocabulary), separators=(",", ":"))
    write(folder, "tokenizer_config.json", TOKENIZER_CONFIG)


def write(folder, name, content, **style):
    with open(f"{folder}/{name}", "w") as file:
        json.dump(content, file, ensure_ascii=False, **(style or dict(indent=1)))


def shared_ids(v):
    return dict(
        bos_token_id=v.end, eos_token_id=v.end, pad_token_id=v.end, decoder_start_token_id=v.start
    )


def config(v, options):
    return dict(
        model_type="whisper",
        architectures=["WhisperForConditionalGeneration"],
        is_encoder_decoder=True,
        d_model=options["width"],
        encoder_layers=options["encoder_layers"],
        decoder_layers=options["decoder_layers"],
        encoder_attention_heads=options["heads"],
        decoder_attention_heads=options["heads"],
        encoder_ffn_dim=options["hidden"],
        decoder_ffn_dim=options["hidden"],
        num_hidden_layers=options["encoder_layers"],
        vocab_size=len(v),
        num_mel_bins=80,
        max_source_positions=1500,
        max_target_positions=448,
        activation_function="gelu",
        scale_embedding=False,
        use_cache=True,
        median_filter_width=7,
        begin_suppress_tokens=[v.end],
        **shared_ids(v),
    )


def generation_config(v, options):
    last_layer = options["decoder_layers"] - 1
    return dict(
        is_multilingual=True,
        lang_to_id={token: v.id[token] for token in LANGUAGES},
        task_to_id=dict(transcribe=v.transcribe, translate=v.id["<|translate|>"]),
        no_timestamps_token_id=v.no_timestamps,
        max_length=448,
        max_initial_timestamp_index=50,
        prev_sot_token_id=v.id["<|startofprev|>"],
        return_timestamps=False,
        begin_suppress_tokens=[],
        suppress_tokens=[],
        alignment_heads=[[last_layer, head] for head in range(options["heads"])],
        **shared_ids(v),
    )


PREPROCESSOR = dict(
    feature_extractor_type="WhisperFeatureExtractor",
    processor_class="WhisperProcessor",
    chunk_length=30,
    feature_size=80,
    hop_length=160,
    n_fft=400,
    n_samples=480000,
    nb_max_frames=3000,
    padding_side="right",
    padding_value=0.0,
    return_attention_mask=False,
    sampling_rate=16000,
)

TOKENIZER_CONFIG = dict(
    tokenizer_class="WhisperTokenizer",
    processor_class="WhisperProcessor",
    model_max_length=1024,
    add_prefix_space=False,
    bos_token="<|endoftext|>",
    eos_token="<|endoftext|>",
    unk_token="<|endoftext|>",
    pad_token="<|endoftext|>",
)


def tokenizer(v):
    """A BPE without merges: `ignore_merges` makes it look whole words up."""
    return dict(
        version="1.0",
        truncation=None,
        padding=None,
        added_tokens=[added_token(v.id[token], token) for token in v.special],
        normalizer=None,
        pre_tokenizer=byte_level(add_prefix_space=False),
        post_processor=None,
        decoder=byte_level(add_prefix_space=True),
        model=dict(
            type="BPE",
            dropout=None,
            unk_token="<|endoftext|>",
            continuing_subword_prefix="",
            end_of_word_suffix="",
            fuse_unk=False,
            byte_fallback=False,
            ignore_merges=True,
            vocab={token: number for number, token in enumerate(v.text)},
            merges=[],
        ),
    )


def byte_level(add_prefix_space):
    return dict(
        type="ByteLevel", add_prefix_space=add_prefix_space, trim_offsets=True, use_regex=True
    )


def added_token(number, token):
    """Timestamps are not special: they must survive decoding."""
    return dict(
        id=number,
        content=token,
        single_word=False,
        lstrip=False,
        rstrip=False,
        normalized=False,
        special=not token[2].isdigit(),
    )

<?php

declare(strict_types=1);

namespace Offhook\Internal;

use Offhook\Exception\InvalidResponseException;
use Offhook\Http\HttpResponse;

/** Reads bodies of answers. */
final class Body
{
    /** Longest body of an error that is read. */
    public const ERROR_BYTES_MAX = 1024 * 1024;

    private const JSON_TYPE = '#^application/(?:[\w.-]+\+)?json\b#i';

    /** @throws InvalidResponseException when it is longer than `$sizeBytesMax` */
    public static function text(HttpResponse $response, Deadline $deadline, int $sizeBytesMax): string
    {
        $text = '';
        while (($piece = $response->read($deadline->leftSeconds())) !== '') {
            $text .= $piece;
            if (strlen($text) > $sizeBytesMax) {
                throw new InvalidResponseException(
                    "Cannot read the answer: it is over $sizeBytesMax bytes long",
                    $response->status(),
                );
            }
        }

        return $text;
    }

    /** @throws InvalidResponseException when it is no JSON */
    public static function json(HttpResponse $response, Deadline $deadline, int $sizeBytesMax): mixed
    {
        self::requireType($response, self::JSON_TYPE);
        $text = self::text($response, $deadline, $sizeBytesMax);
        try {
            return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            $message = 'Cannot read the answer: it is no well-formed JSON';
            throw new InvalidResponseException($message, $response->status(), $error);
        }
    }

    /**
     * @param non-empty-string $expected
     *
     * @throws InvalidResponseException when the answer has another content type
     */
    public static function requireType(HttpResponse $response, string $expected): void
    {
        $found = $response->header('content-type') ?? '';
        if (preg_match($expected, $found) === 1) {
            return;
        }
        $shown = substr($found, 0, 100);
        throw new InvalidResponseException(
            "Cannot read the answer: its content type is \"$shown\"",
            $response->status(),
        );
    }
}

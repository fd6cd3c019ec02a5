<?php

declare(strict_types=1);

namespace Offhook\Internal;

/** Bodies of requests as JSON. */
final class JsonBody
{
    /**
     * @param array<array-key, mixed> $body
     * @param list<string> $objects Places where an empty array is an object, such as `settings` or `tools.*.headers`.
     *
     * @throws \InvalidArgumentException when JSON cannot have it
     */
    public static function encode(array $body, array $objects): string
    {
        $whole = $body === [] ? new \stdClass() : $body;
        foreach ($objects as $place) {
            if (is_array($whole)) {
                $whole = self::withObject($whole, explode('.', $place));
            }
        }
        try {
            return json_encode($whole, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        } catch (\JsonException $error) {
            throw new \InvalidArgumentException("Cannot send the body: {$error->getMessage()}", 0, $error);
        }
    }

    /**
     * Puts an object where the place has an empty array.
     *
     * @param array<array-key, mixed> $value
     * @param list<string> $place
     *
     * @return array<array-key, mixed>
     */
    private static function withObject(array $value, array $place): array
    {
        $name = array_shift($place);
        foreach ($name === '*' ? array_keys($value) : [$name] as $key) {
            $inside = $value[$key] ?? null;
            if (!is_array($inside)) {
                continue;
            }
            if ($place !== []) {
                $value[$key] = self::withObject($inside, $place);
            } elseif ($inside === []) {
                $value[$key] = new \stdClass();
            }
        }

        return $value;
    }
}

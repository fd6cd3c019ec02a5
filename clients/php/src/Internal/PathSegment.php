<?php

declare(strict_types=1);

namespace Offhook\Internal;

final class PathSegment
{
    /**
     * A value as a segment of a path.
     *
     * @throws \InvalidArgumentException when it is empty, or would lead to another path
     */
    public static function of(string $name, string|int $value): string
    {
        $text = (string) $value;
        if (in_array($text, ['', '.', '..'], true)) {
            throw new \InvalidArgumentException("Cannot use \"$text\" as $name: it names no resource");
        }

        return rawurlencode($text);
    }
}

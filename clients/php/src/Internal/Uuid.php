<?php

declare(strict_types=1);

namespace Offhook\Internal;

final class Uuid
{
    /**
     * A random UUID.
     *
     * @see RFC 9562 section 5.4: the version is 4, and the variant 10 in binary
     */
    public static function random(): string
    {
        $bytes = random_bytes(16);
        $bytes[6] = chr(ord($bytes[6]) & 0x0F | 0x40);
        $bytes[8] = chr(ord($bytes[8]) & 0x3F | 0x80);

        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}

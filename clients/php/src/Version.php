<?php

declare(strict_types=1);

namespace Offhook;

final class Version
{
    /** The version of the library. */
    public const TEXT = '0.1.0';
}

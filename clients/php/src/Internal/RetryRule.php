<?php

declare(strict_types=1);

namespace Offhook\Internal;

/**
 * What may be repeated. `Always`: repeating does no harm. `Keyed`: likewise, thanks to the idempotency key. `Refused`: only
 * where the server says that it did nothing.
 */
enum RetryRule
{
    case Always;
    case Keyed;
    case Refused;
}

<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 429: the requests of the hour are used up; see `retryAfterSeconds`. */
final class RateLimitedException extends ApiException
{
}

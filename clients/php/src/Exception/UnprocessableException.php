<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 422: well-formed, but cannot be carried out. */
final class UnprocessableException extends ApiException
{
}

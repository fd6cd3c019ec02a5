<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 409: the resource exists already, or its state forbids the change. */
final class ConflictException extends ApiException
{
}

<?php

// Loads the classes without Composer: `require "…/offhook/autoload.php"`.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    foreach (['Offhook\\Generated\\' => '/generated/', 'Offhook\\' => '/src/'] as $prefix => $folder) {
        if (!str_starts_with($class, $prefix)) {
            continue;
        }
        $path = __DIR__ . $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (is_file($path)) {
            require $path;
        }

        return;
    }
});

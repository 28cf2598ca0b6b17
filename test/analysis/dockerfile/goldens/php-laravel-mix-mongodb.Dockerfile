FROM node:24-slim AS assets
WORKDIR /app
COPY package.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm install
COPY . ./
RUN npm run production
RUN mkdir -p /app/public

FROM php:8.4-apache
RUN apt-get update && apt-get install -y --no-install-recommends git libicu-dev libmagickwand-dev libpq-dev libssl-dev libzip-dev unzip && rm -rf /var/lib/apt/lists/*
RUN docker-php-ext-install -j"$(nproc)" bcmath intl pcntl pdo_mysql pdo_pgsql zip
RUN pecl install imagick mongodb && docker-php-ext-enable imagick mongodb
RUN sed -ri 's/^Listen 80$/Listen ${PORT}/' /etc/apache2/ports.conf && sed -ri 's/<VirtualHost [*]:80>/<VirtualHost *:${PORT}>/' /etc/apache2/sites-available/000-default.conf && a2enmod rewrite headers
RUN sed -ri 's!/var/www/html!/var/www/html/public!' /etc/apache2/sites-available/000-default.conf && printf '%s\n' '<Directory /var/www/html/public>' 'AllowOverride All' '</Directory>' > /etc/apache2/conf-enabled/app.conf
WORKDIR /var/www/html
COPY --from=composer:2 /usr/bin/composer /usr/bin/composer
ENV COMPOSER_ALLOW_SUPERUSER=1 \
    COMPOSER_CACHE_DIR=/tmp/cache
COPY composer.json composer.lock ./
RUN --mount=type=cache,target=/tmp/cache \
    composer install --no-dev --no-scripts --no-autoloader --prefer-dist --no-interaction
COPY --chown=33:33 . ./
RUN --mount=type=cache,target=/tmp/cache \
    composer dump-autoload --optimize --no-dev --no-interaction
COPY --from=assets --chown=33:33 /app/public/ ./public/
RUN install -d -o 33 -g 33 storage/framework/cache storage/framework/sessions storage/framework/views storage/logs bootstrap/cache
ENV PORT=8080
USER 33:33
EXPOSE 8080
HEALTHCHECK NONE
CMD ["apache2-foreground"]

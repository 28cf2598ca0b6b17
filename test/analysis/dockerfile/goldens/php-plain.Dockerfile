FROM php:8.4-apache
RUN sed -ri 's/^Listen 80$/Listen ${PORT}/' /etc/apache2/ports.conf && sed -ri 's/<VirtualHost [*]:80>/<VirtualHost *:${PORT}>/' /etc/apache2/sites-available/000-default.conf && a2enmod rewrite headers
RUN printf '%s\n' '<Directory /var/www/html>' 'AllowOverride All' '</Directory>' > /etc/apache2/conf-enabled/app.conf
WORKDIR /var/www/html
COPY --chown=33:33 . ./
ENV PORT=8080
USER 33:33
EXPOSE 8080
HEALTHCHECK NONE
CMD ["apache2-foreground"]

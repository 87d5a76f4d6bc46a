from __future__ import annotations

from django.contrib import admin

from shop.models import Customer, Line, Order


class LineInline(admin.TabularInline):
    model = Line
    extra = 1


class OrderAdmin(admin.ModelAdmin):
    inlines = [LineInline]
    list_display = ["id", "customer"]
    readonly_fields = ["id"]


admin.site.register(Customer)
admin.site.register(Order, OrderAdmin)

from __future__ import annotations

from django.db import models

from uidring.django import UidField


class Customer(models.Model):
    id = UidField(primary_key=True)
    name = models.CharField(max_length=50)
    # Of another system, typed in by people.
    foreign_id = UidField(null=True, blank=True, default=None)

    def __str__(self) -> str:
        return str(self.name)


class Order(models.Model):
    id = UidField(primary_key=True)
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="orders")
    number = models.CharField(max_length=30, blank=True)


class Line(models.Model):
    id = UidField(primary_key=True)
    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    text = models.CharField(max_length=50)

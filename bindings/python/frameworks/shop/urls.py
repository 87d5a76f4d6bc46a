from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from rest_framework import routers, serializers, viewsets

from shop.models import Customer, Line, Order
from uidring.django.rest_framework import UidRelatedField


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["id", "name", "foreign_id", "orders"]
        read_only_fields = ["orders"]


class OrderSerializer(serializers.ModelSerializer):
    of = UidRelatedField(source="customer", read_only=True)

    class Meta:
        model = Order
        fields = ["id", "customer", "lines", "of"]
        read_only_fields = ["lines"]


class LineSerializer(serializers.ModelSerializer):
    class Meta:
        model = Line
        fields = "__all__"
        depth = 1


class Customers(viewsets.ModelViewSet):
    queryset = Customer.objects.all()
    serializer_class = CustomerSerializer


class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer


class Lines(viewsets.ModelViewSet):
    queryset = Line.objects.all()
    serializer_class = LineSerializer


router = routers.DefaultRouter()
router.register("customers", Customers)
router.register("orders", Orders)
router.register("lines", Lines)


def many(request: HttpRequest) -> HttpResponse:
    made = [Customer() for _ in range(1000)]
    return HttpResponse(str(len(made)))


async def many_async(request: HttpRequest) -> HttpResponse:
    return many(request)


urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include(router.urls)),
    path("many/", many),
    path("many-async/", many_async),
]

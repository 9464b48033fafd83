"""Labels of parcels."""

"""Weights on a body: painted ones, and those that are made where nobody painted."""

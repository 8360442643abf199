create database platform;
